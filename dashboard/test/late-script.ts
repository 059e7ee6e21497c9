import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ASSETS = join(import.meta.dirname, '../dist/assets')

/** The name of the only lazily loaded script that contains these words. */
export const lateScriptWith = (words: string): string => {
  const found = readdirSync(ASSETS).filter(
    (name) => name.startsWith('chunk-') && name.endsWith('.js') && readFileSync(join(ASSETS, name), 'utf8').includes(words),
  )
  expect({ words, scripts: found.length }).toEqual({ words, scripts: 1 })
  return found[0]!
}
