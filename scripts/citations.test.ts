import { describe, expect, test } from 'bun:test'

import { anchorsOf, citationFaults } from './citations.ts'

const PAGES: readonly (readonly [string, string])[] = [
  ['README.md', '# Patchbay'],
  ['docs/errors.md', '# Errors\n\n## Types'],
  ['docs/contract/errors.md', '# Errors\n\n## Length errors\n\nSee [types](../errors.md#types).'],
  ['decisions/0016-nothing-silent.md', '# 16. Nothing silent'],
]

const faultsOf = (text: string, path = 'src/one.ts'): string[] => citationFaults(new Map([...PAGES, [path, text]]))

describe('a citation of what is there is no fault', () => {
  test.each([
    'docs/contract/errors.md#length-errors',
    'docs/contract/errors.md',
    'decisions/0016',
    'decisions/0016-nothing-silent.md',
    'README.md',
    'https://example.com/blob/main/docs/setting-up.md#there',
  ])('%s', (citation) => {
    expect(faultsOf(`// A reason (${citation}).`)).toEqual([])
  })

  test('a link is resolved from the folder of its page', () => {
    expect(faultsOf('[one](errors.md#types) [two](contract/errors.md) [three](#here)\n# Here', 'docs/guide.md')).toEqual([])
  })
})

describe('a citation of what is not there is a fault', () => {
  test.each([
    ['docs/contract/nothing.md', 'docs/contract/nothing.md is not in the repository.'],
    ['docs/contract/errors.md#nothing', 'docs/contract/errors.md has no heading #nothing.'],
    ['service.md, "Errors"', 'service.md is not in the repository.'],
    ['Reliability.md', 'Reliability.md is not in the repository.'],
    ['decisions/0017', 'decisions/0017 is not in the repository.'],
    ['decisions/16', 'decisions/16 is not in the repository.'],
    ['decisions/0016-another-name.md', 'decisions/0016-another-name.md is not in the repository.'],
  ])('%s', (citation, fault) => {
    expect(faultsOf(`first\n// A reason (${citation}).`)).toEqual([`src/one.ts:2: ${fault}`])
  })

  test.each(['decision 16', 'Decisions 16, 32', 'contract 2.2', 'Contract 5', 'reliability 6.3', 'pitfalls 17'])(
    'a bare number: %s',
    (words) => {
      expect(faultsOf(`// ${words}`)).toHaveLength(1)
    },
  )

  test('a link to a heading that its own page lacks', () => {
    expect(faultsOf('[one](#there)\n# Here', 'docs/guide.md')).toEqual(['docs/guide.md:1: docs/guide.md has no heading #there.'])
  })
})

test('two decisions of one number are a fault', () => {
  expect(citationFaults(new Map([...PAGES, ['decisions/0016-again.md', '']]))).toEqual([
    'decisions/0016-nothing-silent.md and decisions/0016-again.md share a number.',
  ])
})

test('headings are named as GitHub names them', () => {
  expect([...anchorsOf('# `Retry-After`\n## A [link](x.md), then 2.5 %\n```sh\n# not one\n```\n## Twice\n## Twice')]).toEqual([
    'retry-after',
    'a-link-then-25-',
    'twice',
    'twice-1',
  ])
})
