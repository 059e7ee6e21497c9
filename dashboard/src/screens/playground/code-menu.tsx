import { copyText } from '../../parts/copy.tsx'
import { Menu } from '../../parts/menu.tsx'
import type { Asked } from '../../playing/conversation-input.ts'
import { codeOf } from '../../playing/request-code.ts'
import { toast } from '../../shell/toasts.tsx'

/** The request of the first column, as a program. */
export const CodeMenu = ({ asked }: { asked: Asked }) => (
  <Menu
    label="Code"
    button="Code ▾"
    items={codeOf(asked).map(({ title, text }) => ({
      label: `Copy as ${title}`,
      onSelect: () => void copyText(text).then((copied) => (copied ? toast(`Copied the request as ${title}.`) : undefined)),
    }))}
  />
)
