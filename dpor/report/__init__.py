"""Reports: results of checks, comparisons and analyses, for people and for tools.

text, columns, progress     a check at a terminal, a run with a column for each thread, a search while it runs
page, html, class_map       HTML pages: a failure or check, a comparison, the classes that a search covered
json, sarif, github         for tools: JSON (`schema.json`), code scanning, GitHub Actions
comparison, analysis        `dpor compare` and `dpor analyze`, as text and as JSON
sentences, words, places    explanations in sentences, shared words, places of findings
shortened, folded           which events of a long run are shown; calls of the library as one row
"""
