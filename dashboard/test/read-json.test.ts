import { describe, expect, test } from 'bun:test'

import fc from 'fast-check'

import { readJson } from '../src/read-json.ts'

describe('JSON that a person wrote', () => {
  test.each([
    ['{\n  "temperature": 0.4\n  "top_p": 1\n}', 'line 3, column 3 has "top_p": 1 in place of a comma or }.'],
    ['{"a": [1, 2,]}', 'line 1, column 13 has ]} in place of a value.'],
    ['{"a": 1,}', 'line 1, column 9 has } in place of a name in double quotes.'],
    ['{a: 1}', 'line 1, column 2 has a: 1} in place of a name in double quotes or }.'],
    ["{'a': 1}", "line 1, column 2 has 'a': 1} in place of a name in double quotes or }."],
    ['{"a" 1}', 'line 1, column 6 has 1} in place of a colon.'],
    ['{"a": True}', 'line 1, column 7 has True} in place of a value.'],
    ['{"a": 01}', 'line 1, column 7 has 01} in place of a value.'],
    ['{"a": 1} // the first', 'line 1, column 10 has // the first in place of the end.'],
    ['{\n  "a": {"b": [1, 2\n', 'line 3, column 1 has the end in place of a comma or ].'],
    ['{"prompt": "one\ntwo"}', 'line 1, column 16 has the end of the line in place of \\n for a line break, or of a closing quote.'],
    ['{"path": "C:\\data"}', 'line 1, column 13 has \\data"} in place of an escape that there is, such as \\\\.'],
    ['{"a": "\t"}', 'line 1, column 8 has "} in place of an escape, such as \\t.'],
    ['[{}, [] 1]', 'line 1, column 9 has 1] in place of a comma or ].'],
    ['{"a": "b', 'line 1, column 9 has the end in place of a closing quote.'],
    ['', 'line 1, column 1 has the end in place of a value.'],
  ])('%j: it says where it is none, and what is wanted there', (text, place) => {
    expect(readJson(text)).toEqual({ fault: `This is no JSON: ${place}` })
  })

  test('a text that stops early, or has a sign too many, has a fault with a place', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', ']', ':', '"', 'x', '\n'), (json, position, sign) => {
        const at = position % (json.length + 1)
        const read = readJson(json.slice(0, at) + sign)
        if ('fault' in read) expect(read.fault).toMatch(/^This is no JSON: line \d+, column \d+ has .+ in place of .+\.$/s)
      }),
    )
  })
})
