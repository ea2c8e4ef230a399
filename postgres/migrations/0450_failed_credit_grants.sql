-- The doctor counts credits that failed ten times (money 5.3.6). Few rows fail, and most open ones are only pending: the
-- index holds the former. Building it reads the table and blocks its writes meanwhile, as the grants' job may wait.
create index credit_grant_applications_failed_idx
    on credit_grant_applications (tenant_id, environment_id)
 where application_status = 'failed';
