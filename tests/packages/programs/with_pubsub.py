"""Somebody subscribes while a message is sent: pypubsub's own assertion can fail."""

import threading

from pubsub import pub


def listener(text: str) -> None:
    pass


def subscribed_meanwhile() -> None:
    threads = [
        threading.Thread(target=pub.subscribe, args=(listener, "news")),
        threading.Thread(target=pub.sendMessage, args=("news",), kwargs={"text": "hello"}),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
