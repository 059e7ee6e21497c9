/** Settings of one column that override those of the request, for example to compare two temperatures of one model. */
import { useState } from 'react'

import type { PresetShape } from '../../api/presets.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SettingsEditor } from '../../playing/settings-editor.tsx'

type Settings = Readonly<Record<string, unknown>>

interface ColumnParamsProps {
  /** `column 2`, for people who do not see where the button is. */
  readonly title: string
  readonly shape: PresetShape
  readonly settings: Settings
  readonly onChange: (settings: Settings) => void
}

export const ColumnParams = ({ title, shape, settings, onChange }: ColumnParamsProps) => {
  const [isOpen, setOpen] = useState(false)
  const count = Object.keys(settings).length
  return (
    <>
      <Button onClick={() => setOpen(true)} aria-label={`Settings of ${title}`}>
        {count === 0 ? 'Settings' : `Settings (${count})`}
      </Button>
      {isOpen ? (
        <Dialog title={`Settings of ${title}`} onClose={() => setOpen(false)}>
          <div className="stack playground-settings">
            <p className="soft">They hold for this column alone, and stand over those of the request.</p>
            <SettingsEditor shape={shape} settings={settings} onChange={onChange} />
            <div className="dialog-actions">
              <Button kind="primary" onClick={() => setOpen(false)}>
                Done
              </Button>
            </div>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}
