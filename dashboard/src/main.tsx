/** The entry point of the page. */
import { createRoot } from 'react-dom/client'

import { App } from './app.tsx'
import { loadPartsLater } from './lazy-part.ts'
import { PAGE_NONCE } from './page.ts'
import { sayUncaught } from './shell/say-uncaught.ts'
import { applyTheme } from './theme.ts'

// Radix locks the scrolling of the page with a style element of its own, which must carry this nonce.
Object.assign(globalThis, { __webpack_nonce__: PAGE_NONCE })
applyTheme()
sayUncaught()

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
loadPartsLater()
