import { Link } from '@tanstack/react-router'

import { Empty } from '../parts/empty.tsx'
import { ScreenHead } from '../parts/screen-head.tsx'

/** Shown to a member who follows an admin's link: every request of the screen would be refused. */
export const ForAdmins = ({ title }: { title: string }) => (
  <>
    <ScreenHead title={title} />
    <Empty
      action={
        <Link to="/" className="button">
          Open Overview
        </Link>
      }
    >
      This screen is for admins of the workspace. Ask one of them for what you need here.
    </Empty>
  </>
)
