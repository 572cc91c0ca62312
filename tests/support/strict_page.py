"""A page of HTML, read strictly."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """A strict reading of a page: what it links to, what it says, and that every element is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.words: list[str] = []
        self.opened: list[str] = []
        self.tags: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "data", "action")]
        if tag not in ("meta", "img"):
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
