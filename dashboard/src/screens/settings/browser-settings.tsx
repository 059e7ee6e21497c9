import { FIGURES, figures } from '../../figures.ts'
import { Field } from '../../parts/field.tsx'
import { singleKeys } from '../../shell/keyboard.ts'
import { useStore } from '../../store.ts'
import { theme, THEMES } from '../../theme.ts'
import { TIME_ZONES, timeZone } from '../../time-zone.ts'

/** Kept in this browser alone. */
export const BrowserSettings = () => {
  const chosen = useStore(theme)
  return (
    <div className="stack browser-settings">
      <Field label="Theme">
        <select value={chosen} onChange={(event) => theme.set(THEMES.find((name) => name === event.target.value) ?? 'system')}>
          {THEMES.map((name) => (
            <option key={name} value={name}>
              {name === 'system' ? 'as the system says' : name}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Times">
        <select
          value={useStore(timeZone)}
          onChange={(event) => timeZone.set(TIME_ZONES.find((zone) => zone === event.target.value) ?? 'local')}
        >
          {TIME_ZONES.map((zone) => (
            <option key={zone} value={zone}>
              {zone === 'local' ? 'of this machine' : zone}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Amounts and large counts">
        <select value={useStore(figures)} onChange={(event) => figures.set(FIGURES.find((look) => look === event.target.value) ?? 'short')}>
          {FIGURES.map((look) => (
            <option key={look} value={look}>
              {look === 'short' ? 'short, exact in their tooltips' : look}
            </option>
          ))}
        </select>
      </Field>
      <label className="check">
        <input type="checkbox" checked={useStore(singleKeys)} onChange={(event) => singleKeys.set(event.target.checked)} />
        Single keys of the keyboard act (press ? for the list)
      </label>
    </div>
  )
}
