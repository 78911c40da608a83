-- Older processes may run.
create table `identities` (`organization_id` text not null, `user_id` text not null, `issuer` text not null, `subject` text not null, `created_at` bigint not null, primary key (`organization_id`, `user_id`, `issuer`), foreign key (organization_id, user_id) references members (organization_id, user_id) on delete cascade);
create unique index `identities_by_subject` on `identities` (`issuer`, `subject`);
