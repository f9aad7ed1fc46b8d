import { AppFrame } from './AppFrame.tsx'

/** The person's own screen, which belongs to no house. */
export function AccountLayout() {
  return <AppFrame navigation={[]} />
}
