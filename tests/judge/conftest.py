"""The folder `elsewhere` has libraries that programs of the judge use."""

collect_ignore_glob = ["elsewhere/*"]
