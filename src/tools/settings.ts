/** The `tools` part of the operator's file. Each tool has `enabled`, which kit.ts reads. */
import { z } from 'zod'

import { shellSettings } from './sandbox/settings.ts'
import { enabled } from './enabled.ts'
import { webFetchSettings } from './web-fetch/settings.ts'
import { webSearchSettings } from './web-search/settings.ts'

const switched = (description: string) => z.strictObject({ enabled: enabled(description) }).prefault({})

export const toolSettings = z.strictObject({
  loop: z
    .strictObject({
      parallel: z.int().min(1).max(64).default(8).meta({ description: 'Calls of one turn that run at once.' }),
      max_steps: z.int().min(1).max(100).default(30).meta({ description: 'Calls of server tools that one request may make in all.' }),
      seconds: z.number().min(0.1).max(3600).default(600).meta({ description: 'Seconds that the tools of one request may run in all.' }),
      failover: z.enum(['same_model', 'never']).default('same_model').meta({
        description:
          'What happens if a provider fails between two turns. same_model: another endpoint of the model goes on. never: the request fails.',
      }),
    })
    .prefault({}),
  result_bytes: z
    .int()
    .min(1024)
    .max(4 * 1024 * 1024)
    .default(262_144)
    .meta({ description: 'The most bytes of one result that a model is given.' }),
  web_search: webSearchSettings.prefault({}),
  web_fetch: webFetchSettings.prefault({}),
  datetime: switched('Whether models ask for the time.'),
  search_models: switched('Whether models search the models of the service (`service:experimental__search_models`).'),
  tool_search: switched('Whether models search the tools that a request defers.'),
  apply_patch: switched('Whether models make patches for the client, as `service:apply_patch`.'),
  advisor: z
    .strictObject({
      enabled: enabled('Whether models ask advisors.'),
      max_calls: z.int().min(1).max(100).default(10).meta({ description: 'Calls of advisors that one request may make.' }),
    })
    .prefault({}),
  subagent: z
    .strictObject({
      enabled: enabled('Whether models give tasks to subagents.'),
      max_calls: z.int().min(1).max(100).default(20).meta({ description: 'Tasks that one request may give to subagents.' }),
    })
    .prefault({}),
  fusion: z
    .strictObject({
      enabled: enabled('Whether models ask several models at once.'),
      presets: z
        .record(z.string(), z.array(z.string().min(1)).min(1).max(8))
        .default({})
        .meta({ description: 'Models that a fusion asks, by the name of the preset. The first one is for requests that name no models.' }),
    })
    .prefault({}),
  image_generation: z
    .strictObject({
      enabled: enabled('Whether models have pictures made by another model.'),
      model: z.string().min(1).optional().meta({ description: 'The model that makes pictures, for requests that name none.' }),
    })
    .prefault({}),
  files: switched('Whether models read and write files of the workspace.'),
  shell: shellSettings.optional().meta({ description: 'Where commands of models run, outside of this machine. Absent: nowhere.' }),
})

export type ToolSettings = z.output<typeof toolSettings>
