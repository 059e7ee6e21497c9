/** Reads content blocks of a message, of the system prompt and of a tool's result. */
import type { Part, UrlCitation } from '../../canonical/prompt.ts'
import { openProof, UNSIGNED } from '../../canonical/reasoning.ts'
import { child, children, type Node, optionalFlag, optionalText, requiredText, requiredUrl } from '../json-node.ts'
import { cacheMark, type PartReaders, readContent, toolResult, type UnknownPart, unknownContent, unknownPart } from '../prompt-reader.ts'
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
    const text = optionalText(block, 'content') ?? ''
    return [text === '' ? unknownPart('compaction', block) : { type: 'text', text, ...cacheMark(block) }]
  },
  redacted_thinking: (block) => {
    const data = requiredText(block, 'data')
    return [{ type: 'reasoning', text: '', proof: openProof(data) ?? { format: 'anthropic-claude-v1', kind: 'encrypted', data } }]
  },
  tool_use: (block) => [
    {
      type: 'tool-call',
      id: requiredText(block, 'id'),
      name: requiredText(block, 'name'),
      arguments: JSON.stringify(block.members['input'] ?? {}),
      ...cacheMark(block),
    },
  ],
  tool_result: (block) =>
    toolResult(requiredText(block, 'tool_use_id'), readResultContent(block), {
      isError: optionalFlag(block, 'is_error') ?? false,
      ...cacheMark(block),
    }),
  // Names a function that a search of the client's found. Only Anthropic reads this form (decisions/0211).
  tool_reference: (block) => [{ type: 'text', text: `The tool ${requiredText(block, 'tool_name')} was found. It is in your list now.` }],
  ...SERVER_TOOL_BLOCKS,
}

/** The content of a result may be absent if the tool returned nothing. */
const readResultContent = (block: Node): readonly Part[] =>
  (block.members['content'] ?? null) === null ? [] : readContent(block, 'content', BLOCKS)

/** Reads the `source` of an image or a document. A `file` source refers to another service's storage. */
const readSource = (block: Node, partOf: (url: string) => Part): readonly Part[] => {
  const source = child(block, 'source')
  switch (requiredText(source, 'type')) {
    case 'base64':
      return [partOf(`data:${requiredText(source, 'media_type')};base64,${requiredText(source, 'data')}`)]
    case 'url':
      return [partOf(requiredUrl(source, 'url'))]
    case 'text':
      return [{ type: 'text', text: requiredText(source, 'data'), ...cacheMark(block) }]
    case 'content':
      return readContent(source, 'content', BLOCKS)
    default:
      return [unknownContent(requiredText(block, 'type'), source)]
  }
}

/** A search result with its URL, written as text so that every dialect can carry it. */
const readSearchResult = (block: Node): Part => {
  const found = children(block, 'content').map((part) => requiredText(part, 'text'))
  return { type: 'text', text: [requiredText(block, 'title'), requiredText(block, 'source'), ...found].join('\n'), ...cacheMark(block) }
}

/** The request that answers cite this block, which only this dialect can express. */
const askedCitations = (block: Node): UnknownPart[] => {
  const citations = (block.members['citations'] ?? null) === null ? null : child(block, 'citations')
  return citations !== null && optionalFlag(citations, 'enabled') === true ? [unknownPart('citations', citations)] : []
}

/** The wish that a picture which is too large is not made smaller, which only this dialect can express. */
const askedTransformations = (block: Node): UnknownPart[] => {
  const asked = (block.members['transformations'] ?? null) === null ? null : child(block, 'transformations')
  return asked !== null && Object.values(asked.members).some((value) => value !== null && value !== 'downsize')
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
      const [title, content] = [optionalText(citation, 'title'), optionalText(citation, 'cited_text')]
      urls.push({ url: requiredText(citation, 'url'), title, content, start: null, end: null })
    } else others.push(unknownPart(type, citation))
  }
  return { urls, others }
}
