-- The cli_filter of a site that has no other. Copy it to the folder of slurm.conf,
-- which needs the line CliFilterPlugins=lua.

-- If varq is not installed, every command works without it.
local found, varq = pcall(dofile, "/usr/share/varq/varq.lua")

function slurm_cli_setup_defaults(options, early)
	return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
	return found and varq.pre_submit(options, offset) or slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job, step)
	return found and varq.post_submit(offset, job, step) or slurm.SUCCESS
end
