/**
 * Checks the repository's citations of its own pages: `docs/contract/errors.md#length-errors`, `decisions/0016`, and the links of Markdown
 * pages. Pages outside the repository cannot be cited.
 */

/** Texts by their path from the root of the repository, separated with `/`. */
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
/** URLs are ignored, since they cite no page of the repository. */
const ADDRESS = /\bhttps?:\/\/[^\s)>\]'"`]+/g
const PAGE = /(?<![\w./:@-])(?<path>(?:\.{1,2}\/)*[\w-]+(?:\/[\w.-]+)*\.md)\b(?:#(?<anchor>[\w-]+))?/gi
/** A page's link to one of its own headings. */
const OWN_HEADING = /\]\(#([\w-]+)\)/g
const DECISION = /\bdecisions\/(\d+)(?![\d-])/g
/** The number of a rule without its page. */
const NUMBER = /\b(?:decisions?|contract|reliability|pitfalls?) §?\d+(?:\.\d+)*/gi

/** Resolves paths from the folder of the page, else from the root. Returns what is wrong, or null. */
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

/** Anchors as GitHub makes them from headings; a repeated one gets a number. */
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
