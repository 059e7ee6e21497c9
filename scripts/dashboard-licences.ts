/** The licences of the libraries whose code is in the dashboard's bundle, as one text that ships with it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The packages used by the style sheet, for which the bundler lists no module. */
const OF_STYLES = ['@fontsource-variable/inter']

/** `inputs`: the paths of the files that the bundler read, which may contain `node_modules/`. */
export const licencesOf = (inputs: readonly string[], root: string): string => {
  const packages = new Set(OF_STYLES)
  for (const input of inputs) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]
    if (name !== undefined) packages.add(name)
  }
  return [...packages]
    .sort()
    .map((name) => licenceOf(name, join(root, 'node_modules', name)))
    .join(`\n${'-'.repeat(80)}\n\n`)
}

const licenceOf = (name: string, directory: string): string => {
  if (!existsSync(directory)) throw new Error(`The dashboard bundles ${name}, which is not below node_modules/.`)
  const { version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string; license: string }
  const file = readdirSync(directory).find((entry) => /^licen[cs]e(?:\.\w+)?$/i.test(entry))
  const text = file === undefined ? '' : readFileSync(join(directory, file), 'utf8').trim()
  return `${name} ${version} (${license})\n\n${text}\n`
}
