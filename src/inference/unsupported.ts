/** What this version accepts and does not do. */
import type { Warning } from '../canonical/warning.ts'
import type { AskedPlugins } from '../plugins/asked-plugins.ts'
import type { Plugins } from '../plugins/plugins.ts'

export const unsupported = (asked: AskedPlugins | null, plugins: Plugins): readonly Warning[] =>
  asked === null
    ? []
    : [...asked.keys()].flatMap((id) =>
        plugins[id].unbuilt === true
          ? [{ code: 'unsupported_field' as const, field: 'plugins', message: `This version has no plugin ${id}; it was left out.` }]
          : [],
      )
