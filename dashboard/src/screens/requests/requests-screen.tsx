import { ScreenHead } from '../../parts/screen-head.tsx'

export const RequestsScreen = () => <ScreenHead title="Requests" />
