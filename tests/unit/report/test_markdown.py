"""Text in Markdown: three renderers show the same of it, and all of it, whatever a host put into it."""

from hypothesis import example, given
from hypothesis import strategies as st
from support.rendered import read_alike

from lab.base.untrusted import printable
from lab.report.markdown import code_spans, markdown_table, md, sentence
from lab.report.tables import TextTable

MARKS = "\\`*_{}[]()<>#+-.!|~$&;:=\"'/@^% \t\n1aA\u00e9\u4e2d\U0001f600\u202e\x1b\x02"
# whatever any text has, and much of what Markdown acts on
TEXTS = st.text(st.one_of(st.sampled_from(MARKS), st.characters(codec="utf-8"))) | st.lists(
    st.sampled_from(
        ["`lab run x`", "`", "``", "![a](b)", "<b>", "&amp;", "&#42;", "http://b.c", "www.b.c", "a@b.c", "\\", "|", "-",
         "1.", "~~a~~", "$x$", "{{", "{%", "#", ">", "***", "---", "[a]: b", " "]
    )
).map("".join)  # fmt: skip


def shown(text: str) -> str:
    """What a reader has to see."""
    return " ".join(printable(" ".join(text.split())).split())


@given(TEXTS)
@example("- a")
@example("1. a")
@example("---")
@example("    a")
def test_a_text_is_shown_as_it_is(text: str) -> None:
    page = read_alike(f"# x{md(text)}\n\n{md(text)}\n")
    assert page.blocks == [("h1", f"x{shown(text)}".strip()), *([("p", shown(text))] if shown(text) else [])]
    assert page.elements <= {"h1", "p"}


@given(TEXTS)
def test_a_sentence_is_shown_with_its_code(text: str) -> None:
    page = read_alike(f"{sentence(text)}\n\n- {sentence(text)}\n")
    assert page.elements <= {"p", "code", "ul", "li"}
    words = " ".join(text.split())
    plain = {shown(words), shown("".join(part for part, _ in code_spans(words)))}
    assert not page.blocks or page.blocks[0][1].replace("`", "") in {text.replace("`", "") for text in plain}


@given(TEXTS, TEXTS)
def test_a_cell_is_one_cell_and_an_image_has_the_whole_text(first: str, second: str) -> None:
    page = read_alike(markdown_table(TextTable(["a", "b"], [[first, second], ["x", "y"]])) + "\n")
    assert page.tables == [[["a", "b"], [shown(first), shown(second)], ["x", "y"]]]
    assert page.elements <= {"table", "thead", "tbody", "tr", "th", "td"}
    image = read_alike(f"![{md(f'x {first}')}](figures/a.png)\n")
    assert image.images == [("figures/a.png", shown(f"x {first}"))]


def test_commands_are_code_unless_renderers_would_differ() -> None:
    assert sentence("do `lab run x_y`, 1 < 2") == r"do `lab run x_y`, 1 &lt; 2"
    assert sentence("do `a < b` or `a|b`") == r"do \`a &lt; b\` or \`a\|b\`"
    assert sentence("``a`` and ` b`") == r"\`\`a\`\` and \` b\`"


def test_free_text_cannot_break_out_of_markdown() -> None:
    assert md("a|b\n# <img> *x* [y](z) `c` 1 & 2") == r"a\|b \# &lt;img&gt; \*x\* \[y\](z) \`c\` 1 &amp; 2"
    assert md("~~a~~ $x$ http://b") == "&#126;&#126;a&#126;&#126; &#36;x&#36; http&#58;//b"
    assert md("{{ a }} {% b %} {: .c} {'d': 1}") == "&#123;{ a }} &#123;% b %} &#123;: .c} {'d': 1}"
    assert sentence("`{{ a }}`") == r"\`&#123;{ a }}\`"
    texts = {"- a": r"\- a", "1. a": r"1\. a", "---": r"\---", "-1.5": "-1.5", "2.5 s": "2.5 s"}
    assert [md(text) for text in texts] == [*texts.values()]
