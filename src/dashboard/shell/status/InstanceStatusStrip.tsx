import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answer, app } from '../../api/client.ts'
import { LampList } from './LampList.tsx'

const statusMs = 30_000

/** What needs an operator, on every screen of the instance; nothing when all is well. */
export function InstanceStatusStrip() {
  const { data } = useQuery({
    queryKey: ['instance', 'status'],
    queryFn: () => answer(app.GET('/app/api/instance/status')),
    refetchInterval: statusMs,
  })
  return (
    <LampList
      lamps={data?.data ?? []}
      // The server names the screen, below the instance.
      link={(lamp, props) => <Link to={`/instance${lamp.href === '/' ? '' : lamp.href}` as '/instance'} {...props} />}
    />
  )
}
