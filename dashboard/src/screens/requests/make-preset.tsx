import type { Generation } from '../../api/generations.ts'
import { savePresetFromRequest } from '../../api/presets.ts'
import { PresetDialog } from '../../playing/preset-dialog.tsx'

/** Makes a preset with the settings of a request, and with its system prompt if the contents were stored. */
export const MakePreset = ({ record, onClose }: { record: Generation; onClose: () => void }) => (
  <PresetDialog
    title="Make a preset from this request"
    action="Create"
    name={record.preset_slug ?? ''}
    explanation="It gets the model and the settings of the request, and its system prompt where contents are kept."
    save={(target) => savePresetFromRequest(target, record.id)}
    onClose={onClose}
  />
)
