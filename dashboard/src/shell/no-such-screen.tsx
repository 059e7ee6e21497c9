import { Link } from '@tanstack/react-router'

import { Empty } from '../parts/empty.tsx'
import { ScreenHead } from '../parts/screen-head.tsx'

/** Shown for an address that was mistyped, or that belongs to another version. */
export const NoSuchScreen = () => (
  <>
    <ScreenHead title="Not found" />
    <Empty
      action={
        <Link to="/" className="button">
          Open Overview
        </Link>
      }
    >
      There is no such screen.
    </Empty>
  </>
)
