import { useLive } from '../api/live.ts'
import { AppFrame } from './AppFrame.tsx'
import { instanceNavigation } from './navigation/instance-navigation.ts'
import { InstanceStatusStrip } from './status/InstanceStatusStrip.tsx'

/** The house of the operators. */
export function InstanceLayout() {
  useLive(null)
  return <AppFrame navigation={instanceNavigation} status={<InstanceStatusStrip />} />
}
