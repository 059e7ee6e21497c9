/**
 * The citations in the repository of its own pages, resolved: `docs/contract/errors.md#length-errors`,
 * `decisions/0016`, and the links of Markdown pages. Pages outside the repository cannot be cited.
 */

/** Texts by path from the root of the repository, with `/` between the names. */
export type RepositoryFiles = ReadonlyMap<string, string>

/** One sentence for each citation that leads nowhere, and for each number that two decisions share. */
export const citationFaults = (files: RepositoryFiles): string[] => {
  const decisions = Map.groupBy(
    [...files.keys()].filter((path) => DECISION_PAGE.test(path)),
    (path) => DECISION_PAGE.exec(path)?.[1] ?? '',
  )
  const shared = [...decisions.values()].filter(({ length }) => length > 1).map((paths) => `${paths.join(' and ')} share a number.`)
  const resolvePage = pageResolver(files)
  const cited = [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((written, index) => {
      const line = written.replaceAll(ADDRESS, '')
      const faults = [
        ...[...line.matchAll(PAGE)].map(({ groups }) => resolvePage(path, groups?.['path'] ?? '', groups?.['anchor'])),
        ...(path.endsWith('.md') ? [...line.matchAll(OWN_HEADING)] : []).map(([, anchor]) =>
          resolvePage(path, `./${nameOf(path)}`, anchor),
        ),
        ...[...line.matchAll(DECISION)].map(([cited, number = '']) =>
          decisions.has(number) ? null : `${cited} is not in the repository.`,
        ),
        ...[...line.matchAll(NUMBER)].map(
          ([words]) => `"${words}" names no page: cite docs/contract/<page>.md#<anchor> or decisions/NNNN.`,
        ),
      ]
      return faults.flatMap((fault) => (fault === null ? [] : [`${path}:${index + 1}: ${fault}`]))
    }),
  )
  return [...shared, ...cited]
}

const DECISION_PAGE = /^decisions\/(\d+)-/
/** A URL names no page of ours. */
const ADDRESS = /\bhttps?:\/\/[^\s)>\]'"`]+/g
const PAGE = /(?<![\w./:@-])(?<path>(?:\.{1,2}\/)*[\w-]+(?:\/[\w.-]+)*\.md)\b(?:#(?<anchor>[\w-]+))?/gi
/** A link of a page to a heading of its own. */
const OWN_HEADING = /\]\(#([\w-]+)\)/g
const DECISION = /\bdecisions\/(\d+)(?![\d-])/g
/** The number of a rule without its page. */
const NUMBER = /\b(?:decisions?|contract|reliability|pitfalls?) §?\d+(?:\.\d+)*/gi

/** Paths are resolved from the folder of the page that holds them, else from the root. Answers what is wrong, or null. */
const pageResolver = (files: RepositoryFiles) => {
  const headings = new Map<string, ReadonlySet<string>>()
  return (from: string, cited: string, anchor: string | undefined): string | null => {
    const page = [joinPath(folderOf(from), cited), joinPath('', cited)].find((path) => files.has(path))
    if (page === undefined) return `${cited} is not in the repository.`
    if (anchor === undefined) return null
    const anchors = headings.get(page) ?? anchorsOf(files.get(page) ?? '')
    headings.set(page, anchors)
    return anchors.has(anchor) ? null : `${page} has no heading #${anchor}.`
  }
}

const HEADING = /^#{1,6} +(.+?) *$/gm
const FENCED = /^(```+|~~~+)[^\n]*\n[\s\S]*?^\1 *$/gm

/** As GitHub names headings; a repeated one gets a number. */
export const anchorsOf = (markdown: string): ReadonlySet<string> => {
  const anchors = new Set<string>()
  for (const [, heading = ''] of markdown.replaceAll(FENCED, '').matchAll(HEADING)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const name = words.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-')
    let anchor = name
    for (let repetition = 1; anchors.has(anchor); repetition += 1) anchor = `${name}-${repetition}`
    anchors.add(anchor)
  }
  return anchors
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const joinPath = (folder: string, path: string): string => {
  const names = folder === '' ? [] : folder.split('/')
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '.') names.push(name)
  }
  return names.join('/')
}
