/** Labels for versions, and the share of callers that gets each version. */
import { Panel } from '../../parts/panel.tsx'
import { Labels } from './labels.tsx'
import type { PresetParts } from './preset-parts.ts'
import { RolloutPanel } from './rollout-panel.tsx'

export const LabelsAndRollout = (parts: PresetParts) => (
  <>
    <Panel title="Labels">
      <Labels {...parts} />
    </Panel>
    <Panel title="Rollout">
      <RolloutPanel {...parts} />
    </Panel>
  </>
)
