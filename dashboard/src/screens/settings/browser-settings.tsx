import { Field } from '../../parts/field.tsx'
import { chooseSingleKeys, singleKeys } from '../../shell/keyboard.ts'
import { useStore } from '../../store.ts'
import { chooseTheme, theme, THEMES } from '../../theme.ts'

/** Kept in this browser alone. */
export const BrowserSettings = () => {
  const chosen = useStore(theme)
  return (
    <div className="stack">
      <Field label="Theme">
        <select value={chosen} onChange={(event) => chooseTheme(THEMES.find((name) => name === event.target.value) ?? 'system')}>
          {THEMES.map((name) => (
            <option key={name} value={name}>
              {name === 'system' ? 'as the system says' : name}
            </option>
          ))}
        </select>
      </Field>
      <label className="check">
        <input type="checkbox" checked={useStore(singleKeys)} onChange={(event) => chooseSingleKeys(event.target.checked)} />
        Single keys of the keyboard act (press ? for the list)
      </label>
    </div>
  )
}
