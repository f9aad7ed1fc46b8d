import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { instanceRoute } from './layout.ts'

const getParentRoute = () => instanceRoute

const healthRoute = createRoute({
  getParentRoute,
  path: '/',
  component: lazyRouteComponent(() => import('../../screens/instance/health/HealthScreen.tsx'), 'HealthScreen'),
})

/** What the queue is narrowed to; a domain is no address. */
interface QueueSearch {
  readonly organization?: string
  readonly domain?: string
  readonly status?: 'scheduled' | 'queued' | 'delayed'
  readonly held?: 'true'
}

const queueRoute = createRoute({
  getParentRoute,
  path: 'queue',
  validateSearch: (search: Record<string, unknown>): QueueSearch => {
    const text = (name: string) => (typeof search[name] === 'string' ? search[name] : undefined)
    const status = (['scheduled', 'queued', 'delayed'] as const).find(known => known === search['status'])
    const [organization, domain] = [text('organization'), text('domain')]
    return {
      ...(organization !== undefined && { organization }),
      ...(domain !== undefined && { domain }),
      ...(status && { status }),
      ...(String(search['held']) === 'true' && { held: 'true' }),
    }
  },
  component: lazyRouteComponent(() => import('../../screens/instance/queue/QueueScreen.tsx'), 'QueueScreen'),
})

const quarantineRoute = createRoute({
  getParentRoute,
  path: 'quarantine',
  validateSearch: (search: Record<string, unknown>): { readonly reason?: 'infected' | 'unscanned' } => {
    const reason = (['infected', 'unscanned'] as const).find(known => known === search['reason'])
    return reason ? { reason } : {}
  },
  component: lazyRouteComponent(
    () => import('../../screens/instance/quarantine/QuarantineScreen.tsx'),
    'QuarantineScreen',
  ),
})

const storageRoute = createRoute({
  getParentRoute,
  path: 'storage',
  component: lazyRouteComponent(() => import('../../screens/instance/storage/StorageScreen.tsx'), 'StorageScreen'),
})

const backupsRoute = createRoute({
  getParentRoute,
  path: 'backups',
  component: lazyRouteComponent(() => import('../../screens/instance/backups/BackupsScreen.tsx'), 'BackupsScreen'),
})

const deliveryRoute = createRoute({
  getParentRoute,
  path: 'delivery',
  component: lazyRouteComponent(() => import('../../screens/instance/delivery/DeliveryScreen.tsx'), 'DeliveryScreen'),
})

const certificatesRoute = createRoute({
  getParentRoute,
  path: 'certificates',
  component: lazyRouteComponent(
    () => import('../../screens/instance/certificates/CertificatesScreen.tsx'),
    'CertificatesScreen',
  ),
})

const organizationsRoute = createRoute({
  getParentRoute,
  path: 'organizations',
  component: lazyRouteComponent(
    () => import('../../screens/instance/organizations/OrganizationsScreen.tsx'),
    'OrganizationsScreen',
  ),
})

const auditRoute = createRoute({
  getParentRoute,
  path: 'audit',
  validateSearch: (search: Record<string, unknown>): { readonly action?: string } =>
    typeof search['action'] === 'string' ? { action: search['action'] } : {},
  component: lazyRouteComponent(() => import('../../screens/instance/audit/AuditScreen.tsx'), 'AuditScreen'),
})

const operatorsRoute = createRoute({
  getParentRoute,
  path: 'operators',
  component: lazyRouteComponent(
    () => import('../../screens/instance/operators/OperatorsScreen.tsx'),
    'OperatorsScreen',
  ),
})

/** The screens of the operators' house. */
export const instanceScreens = [
  healthRoute,
  queueRoute,
  quarantineRoute,
  storageRoute,
  backupsRoute,
  deliveryRoute,
  certificatesRoute,
  organizationsRoute,
  auditRoute,
  operatorsRoute,
] as const
