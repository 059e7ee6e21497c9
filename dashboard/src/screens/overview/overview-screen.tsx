import { ScreenHead } from '../../parts/screen-head.tsx'

export const OverviewScreen = () => <ScreenHead title="Overview" />
