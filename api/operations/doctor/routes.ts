import { isoTime } from '../../../platform/clock.ts';
import { DoctorReport } from '../../../schemas/doctor.ts';
import { route } from '../../conventions/route.ts';
import { readEnvironmentFacts, readIncompleteMeters } from './repository.ts';
import { tenantChecks, worstOf } from './tenant-checks.ts';

export const doctorRoutes = [
  route({
    method: 'POST',
    path: '/operations/doctor',
    summary: 'Check the service as far as it concerns this environment',
    permission: 'doctor:read',
    status: 200,
    answer: DoctorReport,
    async handler({ deps, scope }) {
      const [service, parts, meters, environment] = await Promise.all([
        deps.serviceFacts(),
        // A store that does not answer is a finding, not a failure.
        deps.mostParts().catch(() => 'unreachable' as const),
        readIncompleteMeters(deps.pool, scope),
        readEnvironmentFacts(deps.pool, scope),
      ]);
      const checks = tenantChecks(service, parts, meters, environment);
      return { state: worstOf(checks), checked_at: isoTime(deps.clock.now()), checks };
    },
  }),
];
