import {
  Activity,
  Archive,
  Building2,
  ChartColumn,
  HardDrive,
  ListOrdered,
  LockKeyhole,
  ScrollText,
  ShieldAlert,
  Users,
} from 'lucide-react'
import { instanceNavigationStrings as strings } from './instance-navigation-strings.ts'
import type { NavigationGroup } from './navigation.ts'

/** The screens of the instance. */
export const instanceNavigation: readonly NavigationGroup[] = [
  { label: null, items: [{ to: '/instance', label: strings.health, icon: Activity, key: 'h' }] },
  {
    label: strings.mail,
    items: [
      { to: '/instance/queue', label: strings.queue, icon: ListOrdered, key: 'q' },
      { to: '/instance/quarantine', label: strings.quarantine, icon: ShieldAlert, key: 'v' },
      { to: '/instance/delivery', label: strings.delivery, icon: ChartColumn, key: 'd' },
    ],
  },
  {
    label: strings.machine,
    items: [
      { to: '/instance/storage', label: strings.storage, icon: HardDrive, key: 's' },
      { to: '/instance/backups', label: strings.backups, icon: Archive, key: 'b' },
      { to: '/instance/certificates', label: strings.certificates, icon: LockKeyhole, key: 'c' },
    ],
  },
  {
    label: strings.access,
    items: [
      { to: '/instance/organizations', label: strings.organizations, icon: Building2, key: 'o' },
      { to: '/instance/audit', label: strings.audit, icon: ScrollText, key: 'a' },
      { to: '/instance/operators', label: strings.operators, icon: Users, key: 'u' },
    ],
  },
]
