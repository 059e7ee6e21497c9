import { FIGURES, figures } from '../../figures.ts'
import { Field } from '../../parts/field.tsx'
import { singleKeys } from '../../shell/keyboard.ts'
import { type Store, useStore } from '../../store.ts'
import { theme, THEMES } from '../../theme.ts'
import { TIME_ZONES, timeZone } from '../../time-zone.ts'

/** Kept in this browser alone. */
export const BrowserSettings = () => (
  <div className="stack browser-settings">
    <Choice label="Theme" of={theme} options={THEMES} words={{ system: 'as the system says' }} />
    <Choice label="Times" of={timeZone} options={TIME_ZONES} words={{ local: 'of this machine' }} />
    <Choice label="Amounts and large counts" of={figures} options={FIGURES} words={{ short: 'short, exact in their tooltips' }} />
    <label className="check">
      <input type="checkbox" checked={useStore(singleKeys)} onChange={(event) => singleKeys.set(event.target.checked)} />
      Single keys of the keyboard act (press ? for the list)
    </label>
  </div>
)

interface ChoiceProps<Option extends string> {
  readonly label: string
  readonly of: Store<Option>
  readonly options: readonly Option[]
  /** For the options whose names do not say enough. */
  readonly words: Partial<Record<Option, string>>
}

const Choice = <Option extends string>({ label, of, options, words }: ChoiceProps<Option>) => (
  <Field label={label}>
    <select value={useStore(of)} onChange={({ target }) => of.set(options.find((name) => name === target.value) ?? of.get())}>
      {options.map((name) => (
        <option key={name} value={name}>
          {words[name] ?? name}
        </option>
      ))}
    </select>
  </Field>
)
