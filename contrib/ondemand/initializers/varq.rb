# Adds the line of varq's card (info.html.erb) to the cards of all interactive apps, after what an app shows itself. It goes to
# /etc/ood/config/apps/dashboard/initializers.
Rails.application.config.to_prepare do
  line = "/var/www/ood/apps/sys/varq/info.html.erb"
  BatchConnect::App.prepend(
    Module.new do
      define_method(:session_info_view) do
        own = super()
        next own unless File.readable?(line)

        all = File.read(line)
        own == all ? own : [own, all].compact.join("\n\n")
      end
    end
  )
end
