/**
 * The contents of the packed artefact: a CycloneDX document of every package in the lock file that it installs, and the licences of those
 * whose code is in the bundle. Both depend only on the sources, so every build of the same commit gets the same files.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Locked {
  readonly version: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
}

interface LockFile {
  readonly version: string
  readonly packages: Readonly<Record<string, Locked>>
}

const PACKAGE = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)$/

/** Packages by the folder that npm installs them in, without development dependencies. */
const installedPackages = (lock: LockFile): readonly (readonly [folder: string, name: string, locked: Locked])[] =>
  Object.entries(lock.packages).flatMap(([folder, locked]) => {
    const name = PACKAGE.exec(folder)?.[1]
    return name === undefined || locked.dev === true ? [] : [[folder, name, locked] as const]
  })

const purl = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

const sha512 = (integrity: string): string => Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')

/** `bundled`: paths of files whose code is in the bundle. */
export const billOfMaterials = (root: string, bundled: readonly string[]): unknown => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile
  const folders = new Set(bundledFolders(bundled))
  const ours = { type: 'application', name: 'patchbay', version: lock.version, purl: purl('patchbay', lock.version) }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { 'bom-ref': ours.purl, ...ours, licenses: [{ license: { id: 'Apache-2.0' } }] } },
    components: installedPackages(lock).map(([folder, name, { version, resolved, integrity, license, optional }]) => ({
      type: 'library',
      'bom-ref': purl(name, version),
      name,
      version,
      purl: purl(name, version),
      scope: optional === true ? 'optional' : 'required',
      ...(license === undefined ? {} : { licenses: [/ /.test(license) ? { expression: license } : { license: { id: license } }] }),
      ...(integrity === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: sha512(integrity) }] }),
      ...(resolved === undefined ? {} : { externalReferences: [{ type: 'distribution', url: resolved }] }),
      properties: [{ name: 'patchbay:bundled', value: String(folders.has(folder)) }],
    })),
  }
}

const FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//

const bundledFolders = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.flatMap((path) => FOLDER.exec(path)?.[1] ?? []))].sort()

/** The text of each licence, with the packages that it covers. */
export const licencesOf = (root: string, bundled: readonly string[]): string => {
  const sections = bundledFolders(bundled).map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
      name: string
      version: string
      license: string
    }
    const files = readdirSync(join(root, folder)).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
    const texts = files.map((file) => readFileSync(join(root, folder, file), 'utf8').trim())
    return `${name} ${version} (${license})\n\n${texts.length > 0 ? texts.join('\n\n') : `Its package.json names the licence ${license}, and has no text of it.`}\n`
  })
  return [
    `The bundle holds code of these packages, each under its own licence. unpdf itself holds pdf.js, which is under Apache-2.0.\n`,
    ...sections,
  ].join(`\n${'-'.repeat(80)}\n\n`)
}
