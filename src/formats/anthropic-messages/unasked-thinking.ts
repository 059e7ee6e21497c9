/**
 * Handles thinking that a Messages client did not ask for. Claude shows none then, and clients take the first block for the
 * answer, so such thinking is placed after the text, or directly before the tool call that it led to. It is not dropped, because
 * its provider wants it back (`thinkingFirst`). Claude's own thinking, which some models always produce, stays where Claude puts
 * it.
 */
import type { Part } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import { isObject } from '../../lib/json/json.ts'
import type { Block, BlockSink } from '../block-sequence.ts'
import type { AnswerHead, KeepText } from '../format.ts'

export interface EndingSink extends BlockSink {
  /** Delivers the blocks that were held back. */
  end(): void
}

/** Returns `sink` itself, or a sink that holds thinking back. */
export const thinkingBehindText = (sink: BlockSink, { model, request, keep }: AnswerHead): EndingSink => {
  const thinking = request.value('thinking')
  const asked = isObject(thinking) && thinking['type'] !== 'disabled'
  return asked || model.includes('claude') ? openSink(sink) : holdingSink(sink, keep)
}

const openSink = (sink: BlockSink): EndingSink => ({
  open: (block) => sink.open(block),
  piece: (text) => sink.piece(text),
  cite: (citation) => sink.cite(citation),
  close: (proof) => sink.close(proof),
  toolStarted: (call) => sink.toolStarted(call),
  toolEnded: (call, outcome) => sink.toolEnded(call, outcome),
  end: () => undefined,
})

interface Held {
  readonly block: Block
  text: string
  proof: ReasoningProof | null
}

const holdingSink = (sink: BlockSink, keep: KeepText | undefined): EndingSink => {
  let held: Held[] = []
  /** The open block if it is held back, else null. */
  let open: Held | null = null
  const release = (): void => {
    for (const { block, text, proof } of held) {
      sink.open(block)
      if (text !== '') sink.piece(text)
      sink.close(proof)
    }
    held = []
  }
  return {
    open(block) {
      open = block.type === 'reasoning' || block.type === 'proof' ? { block, text: '', proof: null } : null
      if (open !== null) {
        held.push(open)
        return
      }
      if (block.type === 'tool-call') release()
      sink.open(block)
    },
    piece(text) {
      if (open === null) {
        sink.piece(text)
        return
      }
      keep?.(text.length)
      open.text += text
    },
    cite: (citation) => sink.cite(citation),
    close(proof) {
      if (open === null) sink.close(proof)
      else open.proof = proof
      open = null
    },
    toolStarted(call) {
      release()
      sink.toolStarted(call)
    },
    toolEnded: (call, outcome) => sink.toolEnded(call, outcome),
    end: release,
  }
}

/** For a turn that a client sends back: moves the thinking after its text to where its provider put it, before the text. */
export const thinkingFirst = (parts: readonly Part[]): readonly Part[] => {
  const last = parts.findLastIndex(({ type }) => type !== 'reasoning')
  if (last < 0 || last === parts.length - 1) return parts
  const called = parts.findLastIndex(({ type }) => type === 'tool-call')
  return [...parts.slice(0, called + 1), ...parts.slice(last + 1), ...parts.slice(called + 1, last + 1)]
}
