import { Link } from '@tanstack/react-router'

import { Empty } from '../parts/empty.tsx'
import { ScreenHead } from '../parts/screen-head.tsx'

/** For a member who was sent the address by an admin: each part of the screen would be refused. */
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
