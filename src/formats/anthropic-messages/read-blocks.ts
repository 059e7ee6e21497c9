/** Reads content blocks of a message, of the system prompt and of a tool's result. */
import type { Part, UrlCitation } from '../../canonical/prompt.ts'
import { openProof, UNSIGNED } from '../../canonical/reasoning.ts'
import {
  child,
  children,
  member,
  type Node,
  optionalChild,
  optionalFlag,
  optionalText,
  requiredText,
  requiredUrl,
  whole,
} from '../json-node.ts'
import {
  cacheMark,
  type PartReaders,
  passOverDirectCaller,
  readContent,
  toolResult,
  type UnknownPart,
  unknownContent,
  unknownPart,
} from '../prompt-reader.ts'
import { SERVER_TOOL_BLOCKS } from './read-server-tool-blocks.ts'

export const BLOCKS: PartReaders = {
  text: (block) => {
    const { urls, others } = readCitations(block)
    const annotations = urls.length === 0 ? {} : { annotations: urls }
    return [{ type: 'text', text: requiredText(block, 'text'), ...annotations, ...cacheMark(block) }, ...others]
  },
  image: (block) => [...readSource(block, (url) => ({ type: 'image', url, ...cacheMark(block) })), ...askedTransformations(block)],
  document: (block) => {
    const filename = optionalText(block, 'title')
    const parts = readSource(block, (url) => ({ type: 'file', url, filename, ...cacheMark(block) }))
    // Only a file part can hold its name, and no part can hold a context.
    const about = [parts.some(({ type }) => type === 'file' || type === 'unknown') ? null : filename, optionalText(block, 'context')]
    const text = about.filter((line) => line !== null && line !== undefined && line !== '').join('\n')
    return [...(text === '' ? [] : [{ type: 'text', text } as const]), ...parts, ...askedCitations(block)]
  },
  search_result: (block) => [readSearchResult(block), ...askedCitations(block)],
  thinking: (block) => {
    const text = requiredText(block, 'thinking')
    const signature = optionalText(block, 'signature') ?? ''
    if (signature === '' || signature === UNSIGNED) return text === '' ? [] : [{ type: 'reasoning', text }]
    const proof = openProof(signature) ?? { format: 'anthropic-claude-v1', kind: 'signature', data: signature }
    return [{ type: 'reasoning', text, proof }]
  },
  // A summary in the place of earlier turns, which the client may no longer send (decisions/0166). One without text only Anthropic can read.
  compaction: (block) => {
    // Both are proofs that only Anthropic can read.
    for (const key of ['signature', 'encrypted_content']) member(block, key)
    const text = optionalText(block, 'content') ?? ''
    return [text === '' ? unknownPart('compaction', block) : { type: 'text', text, ...cacheMark(block) }]
  },
  redacted_thinking: (block) => {
    const data = requiredText(block, 'data')
    return [{ type: 'reasoning', text: '', proof: openProof(data) ?? { format: 'anthropic-claude-v1', kind: 'encrypted', data } }]
  },
  tool_use: (block) => {
    passOverDirectCaller(block)
    return [
      {
        type: 'tool-call',
        id: requiredText(block, 'id'),
        name: requiredText(block, 'name'),
        arguments: JSON.stringify(member(block, 'input') ?? {}),
        ...cacheMark(block),
      },
    ]
  },
  tool_result: (block) =>
    toolResult(requiredText(block, 'tool_use_id'), readResultContent(block), {
      isError: optionalFlag(block, 'is_error') ?? false,
      ...cacheMark(block),
    }),
  // Names a function that a search of the client's found. Only Anthropic reads this form (decisions/0211).
  tool_reference: (block) => [
    { type: 'text', text: `The tool ${requiredText(block, 'tool_name')} was found. It is in your list now.`, ...cacheMark(block) },
  ],
  ...SERVER_TOOL_BLOCKS,
}

/** The content of a result may be absent if the tool returned nothing. */
const readResultContent = (block: Node): readonly Part[] =>
  member(block, 'content') === undefined ? [] : readContent(block, 'content', BLOCKS)

/** Reads the `source` of an image or a document. A `file` source refers to another service's storage. */
const readSource = (block: Node, partOf: (url: string) => Part): readonly Part[] => {
  const source = child(block, 'source')
  switch (requiredText(source, 'type')) {
    case 'base64':
      return [partOf(`data:${requiredText(source, 'media_type')};base64,${requiredText(source, 'data')}`)]
    case 'url':
      return [partOf(requiredUrl(source, 'url'))]
    case 'text':
      // There is one type of text.
      optionalText(source, 'media_type')
      return [{ type: 'text', text: requiredText(source, 'data'), ...cacheMark(block) }]
    case 'content':
      return markedAtEnd(readContent(source, 'content', BLOCKS), cacheMark(block))
    default:
      return [unknownContent(requiredText(block, 'type'), source)]
  }
}

/** The mark of a block that holds other blocks is that of the last one. */
const markedAtEnd = (parts: readonly Part[], mark: ReturnType<typeof cacheMark>): readonly Part[] =>
  parts.map((part, place) => (place === parts.length - 1 && part.type === 'text' ? { ...part, ...mark } : part))

/** A search result with its URL, written as text so that every dialect can carry it. */
const readSearchResult = (block: Node): Part => {
  const found = children(block, 'content').map((part) => requiredText(part, 'text'))
  return { type: 'text', text: [requiredText(block, 'title'), requiredText(block, 'source'), ...found].join('\n'), ...cacheMark(block) }
}

/** The request that answers cite this block, which only this dialect can express. */
const askedCitations = (block: Node): UnknownPart[] => {
  const citations = optionalChild(block, 'citations')
  return citations !== null && optionalFlag(citations, 'enabled') === true ? [unknownPart('citations', citations)] : []
}

/** The wish that a picture which is too large is not made smaller, which only this dialect can express. */
const askedTransformations = (block: Node): UnknownPart[] => {
  const asked = optionalChild(block, 'transformations')
  return asked !== null && Object.values(whole(asked)).some((value) => value !== null && value !== 'downsize')
    ? [unknownPart('transformations', asked)]
    : []
}

/** Reads citations. Web pages have URLs; a position in a document of the conversation has no canonical form. */
const readCitations = (block: Node): { urls: UrlCitation[]; others: UnknownPart[] } => {
  const urls: UrlCitation[] = []
  const others: UnknownPart[] = []
  for (const citation of children(block, 'citations')) {
    const type = requiredText(citation, 'type')
    if (type === 'web_search_result_location') {
      // Only Anthropic can read it.
      optionalText(citation, 'encrypted_index')
      const title = optionalText(citation, 'title')
      const content = optionalText(citation, 'cited_text')
      urls.push({ url: requiredText(citation, 'url'), title, content, start: null, end: null })
    } else others.push(unknownPart(type, citation))
  }
  return { urls, others }
}
