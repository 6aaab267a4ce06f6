-- A site's own cli_filter with varq added to it. The site's rule here, that every
-- job names an account, stands for yours.

-- Should varq be gone, the site's rules go on without it.
local found, varq = pcall(dofile, "/usr/share/varq/varq.lua")

function slurm_cli_setup_defaults(options, early)
	return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
	if options["account"] == nil then
		slurm.log_error("name an account with --account")
		return slurm.ERROR
	end
	-- Last, because here a promise is made: nothing must refuse the job after it.
	return found and varq.pre_submit(options, offset) or slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job, step)
	return found and varq.post_submit(offset, job, step) or slurm.SUCCESS
end
