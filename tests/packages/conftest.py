"""The programs import packages that are not installed where the tests run."""

collect_ignore_glob = ["programs/*"]
