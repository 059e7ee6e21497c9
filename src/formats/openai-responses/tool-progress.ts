/** Progress of tools that call models, as events of a stream, for clients that ask for them (docs/contract/responses.md#server-tools). */
import type { ServerOutcome, ServerTool, ToolProgress } from '../../canonical/server-tools.ts'
import type { JsonObject } from '../../lib/json/json.ts'

/** The type of an event, and its members in addition to the item's. */
type ProgressEvent = readonly [type: string, members: JsonObject]

/** Types of the events after the one that begins the item. */
export const PROGRESS_BEGUN: Readonly<Partial<Record<ServerTool, readonly string[]>>> = { fusion: ['response.fusion_call.in_progress'] }

export const progressEvent = (progress: ToolProgress): ProgressEvent => {
  switch (progress.step) {
    case 'advice':
      return ['response.output_text.delta', { content_index: 0, delta: progress.text, logprobs: [] }]
    case 'panel-begun':
      return ['response.fusion_call.panel.added', { model: progress.model }]
    case 'panel-text':
      return ['response.fusion_call.panel.delta', { model: progress.model, delta: progress.text }]
    case 'panel-reasoning':
      return ['response.fusion_call.panel.reasoning.delta', { model: progress.model, delta: progress.text }]
    case 'panel-answered':
      return ['response.fusion_call.panel.completed', { model: progress.model, content: progress.text }]
    case 'panel-failed':
      return ['response.fusion_call.panel.failed', { model: progress.model, error: progress.error }]
    case 'analysis-begun':
      // Older clients know the analyst as the judge.
      return ['response.fusion_call.analysis.in_progress', { analyst_model: progress.model, judge_model: progress.model }]
    case 'analysis-made':
      return ['response.fusion_call.analysis.completed', { analysis: progress.analysis }]
  }
}

/** Events before the one that ends the item. */
export const progressEnd = (tool: ServerTool, { fault, value }: ServerOutcome): readonly ProgressEvent[] => {
  if (fault !== null) return []
  if (tool === 'fusion') return [['response.fusion_call.completed', {}]]
  if (tool !== 'advisor') return []
  return [['response.output_text.done', { content_index: 0, text: value['advice'] ?? '', logprobs: [] }]]
}
