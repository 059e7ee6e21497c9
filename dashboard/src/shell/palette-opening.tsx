/** Stands where the palette opens until its code is there, and takes what is typed meanwhile: single keys would act on the page. */
import { Dialog } from '../parts/dialog.tsx'
import { createStore, useStore } from '../store.ts'

export const typedAhead = createStore('')

export const PaletteOpening = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Search and commands" onClose={onClose}>
    <div className="palette">
      <input
        cmdk-input=""
        aria-label="Search and commands"
        placeholder="A screen, a name, an id, a key's last four…"
        value={useStore(typedAhead)}
        onChange={(event) => typedAhead.set(event.target.value)}
        autoComplete="off"
        spellCheck={false}
      />
    </div>
  </Dialog>
)
