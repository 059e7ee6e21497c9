/** The real routes, without the parts that their handlers would need: only their description is read. */
import type { Mount } from './openapi.ts'
import { generationGet } from './routes/generation.ts'
import { inferenceRoute } from './routes/inference.ts'
import { keyCurrent, keysCreate, keysDelete, keysGet, keysList, keysUpdate } from './routes/keys.ts'
import { modelsCount, modelsList } from './routes/models.ts'
import { presetsCreate } from './routes/presets-create.ts'
import { presetsDelete, presetsGet, presetsList, presetsPatch, presetsVersion, presetsVersions } from './routes/presets.ts'
import { docsPage, healthLive, healthReady, metricsText, openapiJson } from './routes/service.ts'

export const describedMounts = (): readonly Mount[] => {
  const parts = { formats: {} } as never
  const api = [
    inferenceRoute('chat', parts),
    inferenceRoute('responses', parts),
    inferenceRoute('messages', parts),
    presetsCreate('responses', parts),
    presetsCreate('messages', parts),
    presetsCreate('chat', parts),
    ...[presetsList, presetsGet, presetsPatch, presetsDelete, presetsVersions, presetsVersion].map((make) => make(parts)),
    ...[keysList, keysCreate, keysGet, keysUpdate, keysDelete].map((make) => make(parts)),
    keyCurrent('/key', parts),
    keyCurrent('/auth/key', parts),
    modelsList('/models', parts),
    modelsList('/models/user', parts),
    modelsCount(parts),
    generationGet(parts),
  ]
  const service = [healthLive(), healthReady(parts), metricsText(parts), openapiJson(parts), docsPage(parts)]
  return [
    { base: '/api/v1', routes: api },
    { base: '/v1', routes: api },
    { base: '', routes: service },
  ]
}
