/** `bun scripts/check-citations.ts`: exits with 1 if a file cites a page, a heading or a decision that does not exist. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { citationFaults } from './citations.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = ['bench', 'bin', 'decisions', 'docs', 'scripts', 'src', 'test']
/** Excludes recorded texts of others, and the test of these rules, which breaks them. */
const OTHERS = /^(?:test\/(?:fixtures|conformance\/goldens)\/|scripts\/citations\.test\.ts$)/

const paths = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile()
        ? [
            join(entry.parentPath, entry.name)
              .slice(ROOT.length + 1)
              .replaceAll('\\', '/'),
          ]
        : [],
    ),
  ),
].filter((path) => /\.(?:ts|md)$/.test(path) && !OTHERS.test(path))

const faults = citationFaults(new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')])))
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
