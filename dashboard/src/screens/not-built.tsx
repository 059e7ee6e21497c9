import { Empty } from '../parts/empty.tsx'
import { ScreenHead } from '../parts/screen-head.tsx'

export const NotBuilt = () => (
  <>
    <ScreenHead title="Not built yet" />
    <Empty>This screen is not built yet. The API does what it will do.</Empty>
  </>
)
