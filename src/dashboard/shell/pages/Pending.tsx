import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'

/** Where a screen will be. */
export function Pending() {
  return <SkeletonRows />
}
