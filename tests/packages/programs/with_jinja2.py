"""Two threads render the same template of one environment, which compiles and caches it."""

import threading

import jinja2


def rendered_by_two() -> None:
    environment = jinja2.Environment(loader=jinja2.DictLoader({"page": "Hello {{name}}"}))
    rendered: list[str] = []

    def render(name: str) -> None:
        rendered.append(environment.get_template("page").render(name=name))

    threads = [threading.Thread(target=render, args=(name,)) for name in ("Ann", "Ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(rendered) == ["Hello Ann", "Hello Ben"]
