/** Says why versions of a preset cannot answer here, before callers find out (docs/contract/presets.md#warnings-of-a-save). */
import { inTurns, type Turn } from '../lib/steps.ts'
import type { PresetContent } from '../contract/preset.ts'
import type { Formats } from '../formats/formats.ts'
import type { Pipeline } from '../inference/pipeline.ts'
import type { Presets } from '../presets/presets.ts'
import type { PresetRef } from '../storage/presets/preset-ref.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { changedBy, reachOf, type RouteRequest } from './route.ts'

export interface UnservableParts {
  readonly formats: Formats
  readonly answering: { readonly pipeline: Pick<Pipeline, 'unservable'> }
  readonly management: { readonly workspaces: Pick<Workspaces, 'defaults'> }
}

/** One sentence for each model that does not exist, and for each tool that cannot run. */
export const unservableContent = async (
  content: PresetContent,
  request: RouteRequest,
  { formats, answering, management }: UnservableParts,
  turn: Turn,
): Promise<readonly string[]> => {
  const { workspaceId } = reachOf(request)
  const disabled = (await management.workspaces.defaults(workspaceId))?.disabled_server_tools ?? []
  const checking = answering.pipeline.unservable({ content, format: formats[content.shape], workspaceId, disabled, by: changedBy(request) })
  return inTurns(checking, turn)
}

/** The sentences for versions that callers are given from now on, each of which begins with its version. */
export const unservableVersions = async (
  { workspaceId, slug }: PresetRef,
  versions: readonly number[],
  request: RouteRequest,
  parts: UnservableParts & { readonly presets: Pick<Presets, 'version'> },
): Promise<readonly string[]> => {
  const turn = request.startTurn()
  const sentences: string[] = []
  for (const number of new Set(versions)) {
    const { shape, config, system_prompt: systemPrompt } = await parts.presets.version(workspaceId, slug, number)
    const found = await unservableContent({ shape, config, systemPrompt }, request, parts, turn)
    sentences.push(...found.map((sentence) => `Version ${number}: ${sentence}`))
  }
  return sentences
}
