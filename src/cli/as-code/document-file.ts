/** Files that people edit: YAML or JSON. A change to a YAML file leaves comments, order and spelling of everything else alone. */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, Document as YamlDocument, type Node, YAMLParseError } from 'yaml'

import { SettingError } from '../../config.ts'
import { isList, isObject, type JsonValue } from '../../lib/json/json.ts'
import type { Document } from './document.ts'

export const EXTENSIONS = ['.yaml', '.yml', '.json'] as const

const isJson = (path: string): boolean => path.endsWith('.json')

/** Throws SettingError, which names the line. */
export const parseFile = (path: string, text: string): Document => {
  const value = parseValue(path, text)
  if (!isObject(value)) throw new SettingError(`${path}: the file must hold one object.`)
  return value
}

/** Throws SettingError, which begins with `path`. */
export const parseValue = (path: string, text: string): JsonValue => plain(path, resolved(path, yamlIn(path, text)), 0)

const resolved = (path: string, document: YamlDocument.Parsed): unknown => {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause
    throw new SettingError(`${path}: an alias (*name) has no anchor (&name), or aliases multiply the file.`, { cause })
  }
}

/** JSON is parsed as YAML too, so that its faults are reported with a line. */
const yamlIn = (path: string, text: string): YamlDocument.Parsed => {
  const document = parseDocument(text, { logLevel: 'error', uniqueKeys: true, merge: true })
  const [fault] = document.errors
  if (fault === undefined) return document
  // The parser's own message quotes the source.
  const at = fault instanceof YAMLParseError ? fault.linePos?.[0] : undefined
  throw new SettingError(
    `${path}: not valid ${isJson(path) ? 'JSON' : 'YAML'}${at === undefined ? '' : ` at line ${at.line}, column ${at.col}`} (${fault.code.toLowerCase().replaceAll('_', ' ')}).`,
  )
}

/** Deeper than any body that the service accepts. */
const DEPTH_MAX = 64

/** YAML has values that no request body can contain, such as one that contains itself. */
const plain = (path: string, value: unknown, depth: number): JsonValue => {
  if (depth > DEPTH_MAX) throw new SettingError(`${path}: nested more than ${DEPTH_MAX} levels deep, or an alias is inside its own anchor.`)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (Array.isArray(value)) return value.map((item) => plain(path, item, depth + 1))
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(path, item, depth + 1)]))
  throw new SettingError(`${path}: the file holds a value that JSON does not know (${typeof value}).`)
}

const STYLE = { lineWidth: 0, flowCollectionPadding: true } as const

/** `before` is the current text of the file; null for a new file. */
export const renderFile = (path: string, document: Document, before: string | null): string => {
  if (isJson(path)) return `${JSON.stringify(document, null, 2)}\n`
  if (before === null) return new YamlDocument(document).toString(STYLE)
  const yaml = parseDocument(before, { logLevel: 'error' })
  const style = { ...STYLE, ...indentationOf(before) }
  const untouched = yaml.toString(style)
  yaml.contents = edited(yaml, yaml.contents, document) as typeof yaml.contents
  const text = yaml.toString(style)
  const holds = (written: string): boolean => {
    const read = parseFile(path, written)
    return JSON.stringify(read) === JSON.stringify(document) || isReordered(read, document)
  }
  // If two places share an anchor, editing it changes both: in that case the file is written anew.
  return [respelled(text, untouched, before), text].find(holds) ?? new YamlDocument(document).toString(STYLE)
}

const indentationOf = (text: string): { readonly indent: number; readonly indentSeq: boolean } => ({
  indent: /^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2,
  indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\r?\n\1- /m.test(text),
})

/** The renderer spaces brackets and comments in its own way: lines that differ from their author's by that alone get it back. */
const respelled = (text: string, untouched: string, before: string): string => {
  const [rendered, written] = [untouched, before].map((all) => all.trimEnd().split(/\r?\n/)) as [string[], string[]]
  const spellings = new Map<string, string[]>()
  for (const [at, line] of rendered.entries()) {
    const own = written[at] ?? ''
    if (wordsOf(own) === wordsOf(line) && indentOf(own) === indentOf(line)) spellings.set(line, [...(spellings.get(line) ?? []), own])
  }
  return text
    .split('\n')
    .map((line) => spellings.get(line)?.shift() ?? line)
    .join('\n')
}

const wordsOf = (line: string): string => line.replaceAll(/\s/g, '')
const indentOf = (line: string): number => line.search(/\S|$/)

/** The outermost level of a file keeps its author's order. */
const isReordered = (one: Document, other: Document): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([key, value]) => JSON.stringify(sortedConfig(value)) === JSON.stringify(sortedConfig(other[key] ?? null)))

const sortedConfig = (value: JsonValue): JsonValue =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value

const edited = (yaml: YamlDocument, node: Node | null, value: JsonValue): Node => {
  if (isMap(node) && isObject(value)) {
    const gone = node.items.filter(({ key }) => !Object.hasOwn(value, keyText(key)))
    for (const { key } of gone) node.delete(key)
    for (const [name, item] of Object.entries(value)) {
      const pair = node.items.find(({ key }) => keyText(key) === name)
      if (pair === undefined) node.add(yaml.createPair(name, item))
      else pair.value = edited(yaml, pair.value as Node | null, item)
    }
    return node
  }
  if (isSeq(node) && isList(value)) {
    node.items = value.map((item, at) => edited(yaml, (node.items[at] as Node | undefined) ?? null, item))
    return node
  }
  if (isScalar(node) && !isObject(value) && !Array.isArray(value)) {
    if (node.value !== value) node.value = value
    return node
  }
  const fresh = yaml.createNode(value)
  if (node?.comment != null) fresh.comment = node.comment
  return fresh
}

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key)

/**
 * Returns a function that gives the line of a path in the text, from 1; if the path is absent, the line of the nearest member around it.
 */
export const linesIn = (text: string): ((path: readonly (string | number)[]) => number) => {
  const lines = new LineCounter()
  const yaml = parseDocument(text, { logLevel: 'error', lineCounter: lines })
  return (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const node = yaml.getIn(path.slice(0, length), true)
      const range = (node as Node | undefined)?.range
      if (range != null) return lines.linePos(range[0]).line
    }
    return 1
  }
}
