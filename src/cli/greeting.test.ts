import { stripVTControlCharacters } from 'node:util'

import { describe, expect, test } from 'bun:test'

import { greeting } from './greeting.ts'

const KEYS = { management: 'pb_mgmt_A', inference: 'pb_inf_B', link: 'http://127.0.0.1:8080/dashboard/#login=T' }
const URL_TEXT = 'http://127.0.0.1:8080'

describe.each([true, false])('on a terminal: %p', (terminal) => {
  const as = { terminal, styled: true }
  test('the first line is the one that programs wait for, and later starts print nothing else', () => {
    expect(greeting(URL_TEXT, KEYS, as).split('\n')[0]).toBe(`patchbay ready ${URL_TEXT}`)
    expect(greeting(URL_TEXT, null, as)).toBe(`patchbay ready ${URL_TEXT}\n`)
  })

  test('the very first start shows both keys and three commands that can be copied', () => {
    const shown = greeting(URL_TEXT, KEYS, as)
    for (const key of [KEYS.management, KEYS.inference, KEYS.link]) expect(shown).toContain(key)
    const commands = shown.split('\n').filter((line) => /^\s*(?:curl|open|xdg-open|start) /.test(line))
    expect(commands).toHaveLength(3)
    for (const command of commands) expect(command).toContain(URL_TEXT)
    expect(commands[2]).toMatch(/open \S+\/dashboard\/#login=T$/)
  })

  test('where people cannot sign in, the third command opens the reference', () => {
    expect(greeting(URL_TEXT, { ...KEYS, link: null }, as)).toMatch(/open http:\S+\/docs$/m)
  })

  test('what the commands send is JSON, with the key that the call needs', () => {
    const [make = '', use = ''] = greeting(URL_TEXT, KEYS, as)
      .split('\n')
      .filter((line) => line.includes('curl '))
    const bodyOf = (command: string): unknown => JSON.parse(/-d '([^']*)'/.exec(command)?.[1] ?? '')
    expect(make).toContain(`Bearer ${KEYS.management}`)
    expect(bodyOf(make)).toMatchObject({ model: 'sandbox/echo' })
    expect(use).toContain(`Bearer ${KEYS.inference}`)
    expect(bodyOf(use)).toMatchObject({ model: '@preset/hello' })
  })
})

test('off a terminal, and for people who want no colours, there are no control characters; every line is whole', () => {
  const plain = greeting(URL_TEXT, KEYS, { terminal: false, styled: true })
  expect(plain).not.toContain('\u001B')
  expect(plain.trimEnd().split('\n')).toHaveLength(6)
  const onTerminal = (styled: boolean): string => greeting(URL_TEXT, KEYS, { terminal: true, styled })
  expect(onTerminal(true)).toContain('\u001B')
  expect(onTerminal(false)).toBe(stripVTControlCharacters(onTerminal(true)))
})
