/** The settings of a request or a preset, as a form and as JSON, which edit the same object. */
import { useState } from 'react'

import type { PresetShape } from '../api/presets.ts'
import { Field } from '../parts/field.tsx'
import { FormOrJson } from '../parts/form-or-json.tsx'
import { JsonEditor } from '../parts/json-editor.tsx'
import { type Lock, lockIn, lockSentence } from './locks.ts'
import { ModelInput } from './model-input.tsx'
import { NumberSetting } from './number-setting.tsx'
import { NUMBER_FIELDS, parseSettings, withSetting } from './settings-fields.ts'
import { ToolsField } from './tools-field.tsx'
import { useTextOf } from './use-text-of.ts'

type Settings = Readonly<Record<string, unknown>>

interface SettingsEditorProps {
  readonly shape: PresetShape
  readonly settings: Settings
  readonly onChange: (settings: Settings) => void
  /** Adds the field for the model. The playground leaves it out, since its columns choose the models. */
  readonly withModel?: boolean
  /** The locks of the presets that the request goes through. */
  readonly locks?: readonly Lock[]
}

const NO_LOCKS: readonly Lock[] = []

export const SettingsEditor = ({ shape, settings, onChange, withModel = false, locks = NO_LOCKS }: SettingsEditorProps) => {
  const [asJson, setAsJson] = useState(false)
  return (
    <div className="stack">
      <FormOrJson label="Settings as" asJson={asJson} onChoose={setAsJson} />
      {asJson ? (
        <SettingsJson settings={settings} onChange={onChange} />
      ) : (
        <SettingsForm shape={shape} settings={settings} onChange={onChange} withModel={withModel} locks={locks} />
      )}
    </div>
  )
}

const SettingsForm = ({ shape, settings, onChange, withModel, locks }: Required<SettingsEditorProps>) => {
  const all = [lockIn(settings, shape), ...locks]
  const lockOn = (nameOn: (shape: PresetShape) => string): Lock | undefined => all.find((lock) => lock.fields.has(nameOn(lock.shape)))
  const hintOf = (nameOn: (shape: PresetShape) => string): string | undefined => {
    const lock = lockOn(nameOn)
    return lock === undefined ? undefined : lockSentence(lock)
  }
  const shown = new Set(['model', 'tools', ...NUMBER_FIELDS.map(({ names }) => names[shape])])
  const others = Object.keys(settings).filter((name) => !shown.has(name))
  return (
    <div className="stack">
      {withModel ? (
        <Field label="Model" hint={hintOf(() => 'model')}>
          <ModelInput
            value={typeof settings['model'] === 'string' ? settings['model'] : ''}
            onChange={(model) => onChange(withSetting(settings, 'model', model === '' ? undefined : model))}
          />
        </Field>
      ) : null}
      <div className="field-row">
        {NUMBER_FIELDS.map(({ title, names }) => (
          <NumberSetting
            key={names[shape]}
            title={title}
            value={settings[names[shape]]}
            onChange={(value) => onChange(withSetting(settings, names[shape], value))}
            hint={hintOf((one) => names[one])}
          />
        ))}
      </div>
      <ToolsField
        shape={shape}
        tools={settings['tools']}
        onChange={(tools) => onChange(withSetting(settings, 'tools', tools))}
        lock={hintOf(() => 'tools')}
      />
      {locks.map((lock) => (
        <p className="faint small" key={lock.by}>
          {lock.by} keeps to itself: {[...lock.fields].join(', ')}. A request that sets one of them is{' '}
          {lock.isRefused ? 'refused' : 'overruled'}.
        </p>
      ))}
      {others.length === 0 ? null : (
        <p className="faint small">
          Also set, to be edited as JSON: {others.map((name) => (lockOn(() => name) === undefined ? name : `${name} (locked)`)).join(', ')}.
        </p>
      )}
    </div>
  )
}

const laidOut = (settings: Settings): string => JSON.stringify(settings, null, 2)

const SettingsJson = ({ settings, onChange }: Pick<SettingsEditorProps, 'settings' | 'onChange'>) => {
  const { text, fault, change } = useTextOf(settings, parseSettings, laidOut, onChange)
  return <JsonEditor label="Settings as JSON" value={text} fault={fault} onChange={change} />
}
